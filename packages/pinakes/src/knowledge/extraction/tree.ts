/** A structured file as a tree whose nodes know their offset in the text. */
export type TreeNode = TreeObject | TreeList | TreeValue;

export interface TreeObject {
  readonly kind: "object";
  readonly at: number;
  readonly entries: readonly (readonly [string, TreeNode])[];
}

export interface TreeList {
  readonly kind: "list";
  readonly at: number;
  readonly items: readonly TreeNode[];
}

export interface TreeValue {
  readonly kind: "value";
  readonly at: number;
  readonly type: "text" | "number" | "boolean" | "null";
  readonly text: string;
}
