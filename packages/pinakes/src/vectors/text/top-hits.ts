/** The best k hits seen, in a heap with the worst on top. Equal scores: the earlier source, then the earlier row is better. */
export interface KeywordHit {
  readonly source: number;
  readonly row: number;
  readonly score: number;
}

const sourceFactor = 2 ** 32;

export class TopHits {
  /** A later row must score above this to get in. */
  threshold = 0;
  readonly #k: number;
  readonly #scores: number[] = [];
  /** source × 2^32 + row. */
  readonly #places: number[] = [];

  constructor(k: number) {
    this.#k = k;
  }

  /** Rows must be added in ascending order of source and row: a later one of the same score does not displace an earlier one. */
  add(source: number, row: number, score: number): void {
    if (score <= this.threshold) return;
    const place = source * sourceFactor + row;
    if (this.#scores.length < this.#k) this.#rise(score, place);
    else this.#sink(score, place);
    if (this.#scores.length === this.#k) this.threshold = this.#scores[0] as number;
  }

  /** Best first. */
  done(): KeywordHit[] {
    return this.#scores
      .map((score, i) => ({ score, place: this.#places[i] as number }))
      .sort((a, b) => b.score - a.score || a.place - b.place)
      .map(({ score, place }) => ({ source: Math.floor(place / sourceFactor), row: place % sourceFactor, score }));
  }

  #rise(score: number, place: number): void {
    let i = this.#scores.length;
    while (i > 0) {
      const parent = (i - 1) >>> 1;
      if (this.#worse(parent, score, place)) break;
      this.#move(parent, i);
      i = parent;
    }
    this.#scores[i] = score;
    this.#places[i] = place;
  }

  /** Replaces the worst. */
  #sink(score: number, place: number): void {
    const length = this.#scores.length;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#worse(child + 1, this.#scores[child] as number, this.#places[child] as number))
        child += 1;
      if (!this.#worse(child, score, place)) break;
      this.#move(child, i);
      i = child;
    }
    this.#scores[i] = score;
    this.#places[i] = place;
  }

  #worse(i: number, score: number, place: number): boolean {
    const other = this.#scores[i] as number;
    return other < score || (other === score && (this.#places[i] as number) > place);
  }

  #move(from: number, to: number): void {
    this.#scores[to] = this.#scores[from] as number;
    this.#places[to] = this.#places[from] as number;
  }
}
