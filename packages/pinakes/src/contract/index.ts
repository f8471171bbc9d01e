export { ErasurePaths, ErasureSubject } from "./erasure-subject.ts";
export { jsonObject, jsonValue } from "./json.ts";
export { pageOf } from "./page.ts";
export { shape, type Sent } from "./shape.ts";
