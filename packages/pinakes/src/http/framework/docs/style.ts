/** The style of /docs: system fonts, two columns on a wide screen, light or dark by the reader's preference. */
export const docsStyle = `:root {
  color-scheme: light dark;
  --page: #fdfdfc;
  --side: #f4f4f1;
  --text: #1d2125;
  --soft: #5b646d;
  --line: #e2e3df;
  --code: #f1f1ed;
  --link: #0b5cad;
  --get: #0a6b4f;
  --post: #0b5cad;
  --put: #8a5a00;
  --patch: #6b3fa0;
  --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15171a;
    --side: #1b1e22;
    --text: #e4e6e8;
    --soft: #9aa4ae;
    --line: #2c3137;
    --code: #202429;
    --link: #79b8ff;
    --get: #5fd3ac;
    --post: #79b8ff;
    --put: #e6b450;
    --patch: #c3a0f0;
    --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875em; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--page); padding: 0.5rem 1rem; z-index: 1; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 3rem 1.25rem; background: var(--side); border-right: 1px solid var(--line); font-size: 0.875rem; }
nav .brand { margin: 0 0 1.25rem; font-weight: 650; font-size: 1.05rem; }
nav .brand a { color: inherit; }
nav .brand span { color: var(--soft); font-weight: 400; font-size: 0.85rem; }
nav summary { cursor: pointer; font-weight: 600; padding: 0.25rem 0; text-transform: capitalize; }
nav ul { list-style: none; margin: 0 0 0.75rem; padding: 0; }
nav li a { display: flex; gap: 0.5rem; align-items: baseline; padding: 0.2rem 0.4rem; border-radius: 4px; color: var(--text); }
nav li a:hover { background: var(--line); text-decoration: none; }
nav .method { flex: 0 0 3.4rem; font-size: 0.65rem; text-align: right; }
main { padding: 2rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 62rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 0.5rem; letter-spacing: -0.01em; }
.lead { font-size: 1.1rem; color: var(--soft); margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 0.5rem; padding-bottom: 0.4rem; border-bottom: 2px solid var(--line); text-transform: capitalize; }
article { padding: 1.25rem 0 1.75rem; border-bottom: 1px solid var(--line); }
article:last-child { border-bottom: 0; }
article:target h3 a { text-decoration: underline; text-decoration-thickness: 2px; }
h3 { font-size: 1.1rem; margin: 0 0 0.4rem; }
h3 a { color: inherit; }
h4 { font-size: 0.8rem; margin: 1.25rem 0 0.4rem; color: var(--soft); font-weight: 600; }
p { margin: 0.5rem 0; }
.path { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: baseline; background: var(--code); border-radius: 6px; padding: 0.45rem 0.75rem; margin: 0.4rem 0 0.75rem; }
.path code { font-size: 0.9rem; overflow-wrap: anywhere; }
.path em { font-style: normal; color: var(--link); }
.method { font: 650 0.72rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: 0.02em; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.875rem; }
th { text-align: left; font-weight: 500; color: var(--soft); font-size: 0.75rem; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
tbody tr:last-child td { border-bottom: 0; }
.name { white-space: nowrap; }
.type { color: var(--soft); min-width: 7rem; }
.depth-1 { padding-left: 1.25rem; } .depth-2 { padding-left: 2.5rem; } .depth-3 { padding-left: 3.75rem; } .depth-4 { padding-left: 5rem; } .depth-5 { padding-left: 6.25rem; }
.required { color: var(--delete); font-size: 0.7rem; }
.note { color: var(--soft); font-size: 0.75rem; font-weight: 400; }
td .note { margin-left: 0.35rem; overflow-wrap: anywhere; }
td .note:first-child { margin-left: 0; }
.answers { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.3rem 1rem; margin: 0; font-size: 0.875rem; }
.answers dd { margin: 0; }
.answers summary { cursor: pointer; color: var(--link); width: max-content; }
pre { background: var(--code); border-radius: 6px; padding: 0.75rem 0.9rem; margin: 0; overflow-x: auto; line-height: 1.5; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
@media (max-width: 56rem) {
  body { display: block; }
  nav { position: static; height: auto; max-height: 45vh; border-right: 0; border-bottom: 1px solid var(--line); }
}
@media print { nav { display: none; } body { display: block; } }
`;
