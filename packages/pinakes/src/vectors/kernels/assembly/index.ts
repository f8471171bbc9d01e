/** What the compiled module exports. Built by scripts/kernels.ts into ../kernels.wasm. */
export { prepare } from "./query";
export { scanRange, scanRows, scanMasked } from "./scan";
export { exactScore } from "./rescore";
export { orderLists, roughLog2, searchGivenLists, searchGivenRows, searchLists, searchRows, traceLists } from "./search";
export { accumulate, assign, assignNear, scoreAll } from "./kmeans";
