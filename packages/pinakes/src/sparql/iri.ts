/** Resolves a reference against a base (RFC 3986, 5.2), without any other change to its characters. */
const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?$/;

export function isAbsoluteIri(text: string): boolean {
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(text);
}

/** Undefined if it is relative and there is no base. */
export function resolveIri(text: string, base: string | undefined): string | undefined {
  if (isAbsoluteIri(text)) return text;
  if (base === undefined || !isAbsoluteIri(base)) return undefined;
  const [, , authority, path, query, fragment] = split(text);
  const [, scheme, baseAuthority, basePath, baseQuery] = split(base);
  const end = fragment === undefined ? "" : `#${fragment}`;
  const search = query === undefined ? "" : `?${query}`;
  const host = (name: string | undefined) => (name === undefined ? "" : `//${name}`);
  if (authority !== undefined) return `${scheme}:${host(authority)}${withoutDots(path ?? "")}${search}${end}`;
  if (path === "" || path === undefined) {
    const kept = query === undefined && baseQuery !== undefined ? `?${baseQuery}` : search;
    return `${scheme}:${host(baseAuthority)}${basePath ?? ""}${kept}${end}`;
  }
  const joined = path.startsWith("/") ? path : merged(baseAuthority, basePath ?? "", path);
  return `${scheme}:${host(baseAuthority)}${withoutDots(joined)}${search}${end}`;
}

function split(text: string): readonly (string | undefined)[] {
  return parts.exec(text) ?? [];
}

function merged(authority: string | undefined, basePath: string, path: string): string {
  if (authority !== undefined && basePath === "") return `/${path}`;
  return basePath.slice(0, basePath.lastIndexOf("/") + 1) + path;
}

function withoutDots(path: string): string {
  const out: string[] = [];
  const segments = path.split("/");
  for (const [at, segment] of segments.entries()) {
    const last = at === segments.length - 1;
    if (segment === "..") {
      if (out.length > 1 || (out.length === 1 && out[0] !== "")) out.pop();
      if (last) out.push("");
    } else if (segment === ".") {
      if (last) out.push("");
    } else out.push(segment);
  }
  return out.join("/");
}
