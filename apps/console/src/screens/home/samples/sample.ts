export interface Sample {
  readonly name: string;
  readonly text: string;
}
