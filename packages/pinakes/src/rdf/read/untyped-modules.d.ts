/** The parts that we use of packages without types. */
declare module "n3" {
  export interface Token {
    readonly type: string;
    readonly value: string;
    readonly line: number;
  }
  /** It only needs the events "data", "end" and "error". */
  export interface TextSource {
    on(event: string, listener: (text: string) => void): void;
  }
  export interface ParserCallbacks {
    readonly onQuad: (error: (Error & { readonly context?: { readonly line?: number } }) | null, quad: unknown) => void;
    readonly onToken: (token: Token) => void;
    readonly onPrefix: (prefix: string, iri: unknown) => void;
  }
  export class Parser {
    constructor(options: {
      readonly format: string;
      readonly baseIRI?: string;
      readonly blankNodePrefix: string;
      readonly factory: unknown;
    });
    parse(source: TextSource, callbacks: ParserCallbacks): void;
  }
}

declare module "rdf-canonize" {
  export function canonize(
    nquads: string,
    options: {
      readonly algorithm: "RDFC-1.0";
      readonly inputFormat: "application/n-quads";
      readonly format: "application/n-quads";
      readonly maxWorkFactor: number;
    },
  ): Promise<string>;
}
