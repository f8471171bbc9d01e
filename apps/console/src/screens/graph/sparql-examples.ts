import { graphStrings } from "../../strings/graph.ts";

const { names } = graphStrings.sparql;

export const sparqlExamples = [
  { name: names.some, query: "SELECT * {\n  ?s ?p ?o\n} LIMIT 20" },
  {
    name: names.types,
    query: "SELECT ?type (COUNT(*) AS ?things) {\n  ?thing a ?type\n}\nGROUP BY ?type ORDER BY DESC(?things) LIMIT 50",
  },
  {
    name: names.predicates,
    query: "SELECT ?p (COUNT(*) AS ?triples) {\n  ?s ?p ?o\n}\nGROUP BY ?p ORDER BY DESC(?triples) LIMIT 50",
  },
  {
    name: names.graphs,
    query:
      "SELECT ?g (COUNT(*) AS ?triples) {\n  GRAPH ?g { ?s ?p ?o }\n}\nGROUP BY ?g ORDER BY DESC(?triples) LIMIT 50",
  },
  { name: names.ask, query: "ASK { ?s ?p ?o }" },
  {
    name: names.construct,
    query:
      "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\nCONSTRUCT { ?s rdfs:label ?name }\nWHERE {\n  ?s ?p ?name\n  FILTER(isLiteral(?name))\n} LIMIT 50",
  },
] as const;
