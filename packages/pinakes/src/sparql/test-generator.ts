/** Random quads and random SPARQL of every operator, for comparison with another implementation. */
import fc from "fast-check";
import type { Quad } from "../domain/rdf.ts";
import { term } from "./test-quads.ts";

const subjects = [":a", ":b", ":c", ":d", "_:x"];
const predicates = [":p", ":q", ":r"];
const objects = [...subjects, "1", "2", "3.5", '"x"', '""', "true", '"2"^^xsd:double'];
const graphs = ["", ":g1", ":g2"];
const variables = ["?v0", "?v1", "?v2", "?v3"];
const constants = [":a", ":b", ":c", "1", "2", '"x"'];

export const anyQuads: fc.Arbitrary<readonly Quad[]> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...subjects),
      fc.constantFrom(...predicates),
      fc.constantFrom(...objects),
      fc.constantFrom(...graphs),
    ),
    {
      minLength: 0,
      maxLength: 14,
    },
  )
  // Every graph knows the nodes that queries name: see "where both differ" in differential.test.ts.
  .map((list) => [
    ...list,
    ...graphs.map((g) => [":a", ":r", ":b", g] as const),
    ...graphs.map((g) => [":b", ":r", ":c", g] as const),
  ])
  .map((list) => list.map(([s, p, o, g]) => ({ s: term(s), p: term(p), o: term(o), g: g === "" ? "" : term(g) })));

const variable = fc.constantFrom(...variables);
const node = fc.oneof({ weight: 4, arbitrary: variable }, { weight: 1, arbitrary: fc.constantFrom(":a", ":b", ":c") });
const object = fc.oneof({ weight: 4, arbitrary: variable }, { weight: 1, arbitrary: fc.constantFrom(...constants) });

const { path } = fc.letrec<{ path: string }>((tie) => ({
  path: fc.oneof(
    { maxDepth: 2, depthIdentifier: "path" },
    fc.constantFrom(...predicates),
    fc.constantFrom("!:p", "!(:p|:q)", "!^:r"),
    fc.tuple(tie("path"), fc.constantFrom("*", "+", "?")).map(([inner, sign]) => `(${inner})${sign}`),
    fc.tuple(tie("path"), tie("path")).map(([a, b]) => `(${a}/${b})`),
    fc.tuple(tie("path"), tie("path"), fc.constantFrom("*", "+", "?")).map(([a, b, sign]) => `(${a}|${b})${sign}`),
    tie("path").map((inner) => `^(${inner})`),
  ),
}));

const triple = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .tuple(node, fc.oneof(fc.constantFrom(...predicates), variable), object)
      .map((parts) => parts.join(" ")),
  },
  { weight: 1, arbitrary: fc.tuple(variable, path, variable).map((parts) => parts.join(" ")) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(":a", ":b"), path, variable).map((parts) => parts.join(" ")) },
);

export const { expression } = fc.letrec<{ expression: string }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 3, depthIdentifier: "expression" },
    variable,
    fc.constantFrom(...constants, "2.5", "true", "1e0", '"7"'),
    fc
      .tuple(tie("expression"), fc.constantFrom("=", "!=", "+", "-", "*", "/", "&&", "||"), tie("expression"))
      .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
    fc
      .tuple(
        fc.constantFrom("STR", "xsd:double"),
        tie("expression"),
        fc.constantFrom("<", ">", "<=", ">="),
        tie("expression"),
      )
      .map(([name, a, sign, b]) => `(${name}(${a}) ${sign} ${name}(${b}))`),
    fc
      .tuple(variable, fc.constantFrom("<", ">", "<=", ">="), fc.constantFrom("2", "2.5", '"x"'))
      .map(([a, sign, b]) => `(${a} ${sign} ${b})`),
    fc.tuple(fc.constantFrom("!", "-"), tie("expression")).map(([sign, a]) => `(${sign} ${a})`),
    variable.map((name) => `BOUND(${name})`),
    fc
      .tuple(
        fc.constantFrom(
          "STR",
          "LANG",
          "DATATYPE",
          "isIRI",
          "isBlank",
          "isLiteral",
          "isNumeric",
          "STRLEN",
          "UCASE",
          "ABS",
          "CEIL",
          "FLOOR",
          "ROUND",
          "xsd:integer",
          "xsd:decimal",
          "xsd:double",
          "xsd:boolean",
          "MD5",
          "ENCODE_FOR_URI",
        ),
        tie("expression"),
      )
      .map(([name, a]) => `${name}(${a})`),
    fc
      .tuple(
        fc.constantFrom("CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "sameTerm", "CONCAT", "REGEX"),
        tie("expression"),
        tie("expression"),
      )
      .map(([name, a, b]) => `${name}(${a}, ${b})`),
    fc
      .tuple(
        fc.constantFrom("CONTAINS", "STRSTARTS", "STRENDS", "sameTerm", "REGEX"),
        fc.constantFrom("x", "axa", ""),
        tie("expression"),
      )
      .map(([name, a, b]) => `${name}("${a}"@en, ${b})`),
    fc
      .tuple(fc.constantFrom("STRBEFORE", "STRAFTER", "CONCAT"), tie("expression"))
      .map(([name, b]) => `STRLEN(${name}("axa"@en, ${b}))`),
    fc
      .tuple(fc.constantFrom("STRBEFORE", "STRAFTER", "CONCAT"), tie("expression"))
      .map(([name, b]) => `LANG(${name}("axa"@en, ${b}))`),
    fc
      .tuple(tie("expression"), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 }))
      .map(([a, from, length]) => `SUBSTR(${a}, ${from}, ${length})`),
    fc
      .tuple(tie("expression"), fc.constantFrom("x", "^h", "[a-z]+", "(t|e).", "a+?"))
      .map(([a, pattern]) => `REPLACE(${a}, "${pattern}", "-")`),
    fc.tuple(tie("expression"), tie("expression"), tie("expression")).map(([a, b, c]) => `IF(${a}, ${b}, ${c})`),
    fc.tuple(tie("expression"), tie("expression")).map(([a, b]) => `COALESCE(${a}, ${b})`),
    fc
      .tuple(tie("expression"), fc.constantFrom("IN", "NOT IN"), tie("expression"), tie("expression"))
      .map(([a, sign, b, c]) => `(${a} ${sign} (${b}, ${c}))`),
  ),
}));

const condition = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(variable, fc.constantFrom("=", "!="), fc.constantFrom(...constants, ...variables))
      .map((parts) => `(${parts.join(" ")})`),
  },
  { weight: 1, arbitrary: variable.map((name) => `(BOUND(${name}))`) },
  { weight: 1, arbitrary: variable.map((name) => `(!BOUND(${name}))`) },
  { weight: 2, arbitrary: expression.map((text) => `(${text})`) },
);

const simpleGroup = fc
  .array(fc.tuple(node, fc.oneof(fc.constantFrom(...predicates), variable), object), { minLength: 1, maxLength: 2 })
  .map((list) => list.map((parts) => parts.join(" ")).join(" . "));
const inside = fc.constantFrom("?v0", "?e0", "?e1", ":a", ":b");
const existsGroup = fc
  .array(fc.tuple(inside, fc.constantFrom(...predicates, "?e2"), inside), { minLength: 1, maxLength: 2 })
  .map((list) => list.map((parts) => parts.join(" ")).join(" . "));
const plainGroup = fc.array(triple, { minLength: 1, maxLength: 2 }).map((list) => list.join(" . "));
const valuesRow = fc
  .tuple(fc.constantFrom("UNDEF", ...constants), fc.constantFrom("UNDEF", ...constants))
  .map(([a, b]) => `(${a} ${b})`);

/** `?NEW` becomes a variable that nothing else uses. */
export const { group } = fc.letrec<{ group: string; part: string }>((tie) => ({
  group: fc.array(tie("part"), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(" ")),
  part: fc.oneof(
    { maxDepth: 3, depthIdentifier: "group" },
    plainGroup.map((text) => `${text} .`),
    tie("group").map((inner) => `OPTIONAL { ${inner} }`),
    fc.tuple(tie("group"), condition).map(([inner, filter]) => `OPTIONAL { ${inner} FILTER${filter} }`),
    fc.tuple(tie("group"), tie("group")).map(([a, b]) => `{ ${a} } UNION { ${b} }`),
    tie("group").map((inner) => `MINUS { ${inner} }`),
    tie("group").map((inner) => `{ ${inner} }`),
    condition.map((filter) => `FILTER${filter}`),
    fc
      .tuple(fc.constantFrom("", "NOT "), existsGroup, fc.constantFrom("", "?v0", "?e0"))
      .map(([not, inner, bound]) => `FILTER(${not}EXISTS { ${inner}${bound === "" ? "" : ` FILTER(${bound} != 1)`} })`),
    expression.map((text) => `BIND(${text} AS ?NEW)`),
    fc
      .tuple(variable, variable, fc.array(valuesRow, { maxLength: 2 }))
      .map(([a, b, rows]) => `VALUES (${a} ${a === b ? "?NEW" : b}) { ${rows.join(" ")} }`),
    fc.tuple(fc.constantFrom(":g1", ":g2"), tie("group")).map(([name, inner]) => `GRAPH ${name} { ${inner} }`),
    fc.tuple(simpleGroup, tie("group")).map(([triples, inner]) => `GRAPH :none { ${triples} . ${inner} }`),
    fc.tuple(simpleGroup, tie("group")).map(([triples, inner]) => `GRAPH ?g { ${triples} . ${inner} }`),
    simpleGroup.map((inner) => `GRAPH ?v0 { ${inner} }`),
    fc
      .tuple(fc.constantFrom("", "DISTINCT "), fc.constantFrom("?v0", "?v0 ?v1", "?v1 ?v2"), tie("group"))
      .map(([distinct, names, inner]) => `{ SELECT ${distinct}${names} WHERE { ${hidden(inner, names)} } }`),
    fc
      .tuple(
        fc.constantFrom("COUNT(*)", "COUNT(?v1)", "COUNT(DISTINCT ?v1)", "SUM(?v1)", "MIN(?v2)", "COUNT(DISTINCT *)"),
        fc.constantFrom("", "HAVING(COUNT(*) > 1)"),
        tie("group"),
      )
      .map(
        ([aggregate, having, inner]) =>
          `{ SELECT ?v0 (${hidden(aggregate, "?v0")} AS ?NEW) WHERE { ${hidden(inner, "?v0")} } GROUP BY ?v0 ${having} }`,
      ),
  ),
}));

/** What a subquery does not select gets other names: see "where both differ" in differential.test.ts. */
function hidden(text: string, selected: string): string {
  return text.replace(/\?(v\d|g)\b/g, (name) => (selected.split(" ").includes(name) ? name : name.replace("?", "?h")));
}

/** Whether a GRAPH or a subquery stands inside a GRAPH. */
export function hasNestedGraph(text: string): boolean {
  const open: boolean[] = [];
  for (const [word] of text.matchAll(/GRAPH \S+ \{|SELECT|\{|\}/g)) {
    if (word === "}") open.pop();
    else if (word !== "{" && open.includes(true)) return true;
    else if (word !== "SELECT") open.push(word !== "{");
  }
  return false;
}

export function named(text: string): string {
  let count = 0;
  return text.replace(/\?NEW/g, () => `?n${(count += 1)}`);
}

const quadText = fc
  .tuple(fc.constantFrom(":a", ":b", ":c"), fc.constantFrom(...predicates), fc.constantFrom(...constants, ":d"))
  .map((parts) => parts.join(" "));
const inGraph = (inner: fc.Arbitrary<string>) =>
  fc
    .tuple(fc.constantFrom("", ":g1", ":g2"), inner)
    .map(([name, text]) => (name === "" ? text : `GRAPH ${name} { ${text} }`));
const flatGroup = group.filter((text) => !hasNestedGraph(text));
const templateTriple = fc.tuple(node, fc.constantFrom(...predicates), object).map((parts) => parts.join(" "));
const template = inGraph(templateTriple);
const graphName = fc.constantFrom("DEFAULT", "GRAPH :g1", "GRAPH :g2");

export const anyUpdate: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      inGraph(quadText).map((text) => `INSERT DATA { ${text} }`),
      inGraph(quadText).map((text) => `DELETE DATA { ${text} }`),
      fc
        .tuple(
          fc.constantFrom("", "WITH :g1 "),
          template,
          template,
          fc.constantFrom("", "USING :g2 ", "USING NAMED :g1 "),
          flatGroup,
        )
        .map(([w, d, i, u, g]) => `${w}DELETE { ${d} } INSERT { ${i} } ${u}WHERE { ${named(g)} }`),
      fc.tuple(template, plainGroup).map(([i, g]) => `INSERT { ${i} } WHERE { ${g} }`),
      inGraph(templateTriple).map((text) => `DELETE WHERE { ${text} }`),
      fc.constantFrom("CLEAR DEFAULT", "CLEAR NAMED", "DROP ALL", "CLEAR SILENT GRAPH :g1", "DROP SILENT GRAPH :g2"),
      fc
        .tuple(fc.constantFrom("COPY", "MOVE", "ADD"), graphName, graphName)
        .map(([how, a, b]) => `INSERT DATA { GRAPH :g1 { :a :p 1 } GRAPH :g2 { :a :p 2 } } ; ${how} ${a} TO ${b}`),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) => list.join(" ;\n"));
