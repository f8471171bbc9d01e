/** The used parts of two packages that ship no types. */
declare module "snowball-stemmers" {
  interface Stemmer {
    stem(word: string): string;
  }
  const snowball: { newStemmer(algorithm: string): Stemmer };
  export default snowball;
}

declare module "stopword" {
  type List = readonly string[];
  export const ara: List;
  export const hye: List;
  export const eus: List;
  export const cat: List;
  export const ces: List;
  export const dan: List;
  export const nld: List;
  export const eng: List;
  export const fin: List;
  export const fra: List;
  export const deu: List;
  export const hun: List;
  export const gle: List;
  export const ita: List;
  export const nob: List;
  export const por: List;
  export const ron: List;
  export const rus: List;
  export const slv: List;
  export const spa: List;
  export const swe: List;
  export const tur: List;
}
