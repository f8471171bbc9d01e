/** The rdf:IDs of an RDF/XML document: none may come twice, so all are remembered, and there are only so many. */
import { invalid } from "../../domain/errors.ts";
import { rdfLimits } from "../limits.ts";

export class RdfIds {
  readonly #seen = new Set<string>();
  #chars = 0;

  claim(iri: string): void {
    if (this.#seen.has(iri))
      throw invalid(
        `rdf:ID stands twice for <${iri.slice(0, 200)}>; an ID is given once, further mentions use rdf:about.`,
      );
    this.#seen.add(iri);
    this.#chars += iri.length;
    if (this.#seen.size > rdfLimits.rdfIdsMax || this.#chars > rdfLimits.rdfIdCharsMax)
      throw invalid(
        `There are more than ${rdfLimits.rdfIdsMax} rdf:IDs, or more than ${rdfLimits.rdfIdCharsMax} characters of them; use rdf:about, or several files.`,
      );
  }
}
