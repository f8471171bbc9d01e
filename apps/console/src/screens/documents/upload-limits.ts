/** What is wrong with a file before a byte of it is sent. Types are the server's to judge: they differ between repositories. */
import { documentStrings } from "../../strings/documents.ts";

/** As the server has it unless its operator set another: 50 × 1,048,576. */
export const fileBytesMax = 52_428_800;

export function sizeProblem({ size }: { readonly size: number }): string | undefined {
  return size > fileBytesMax ? documentStrings.upload.tooLarge(size, fileBytesMax) : undefined;
}
