/**
 * What a kernel knows of its segment and of its thread's scratch area: a struct in the segment's own memory, so that one instance needs
 * no state of its own. The offsets are those of ../context.ts; the test of the context compares them.
 */

// The segment.
@inline export function rowsOf(ctx: usize): u32 { return load<u32>(ctx); }
@inline export function codeStride(ctx: usize): usize { return load<u32>(ctx, 4); }
@inline export function floatStride(ctx: usize): usize { return load<u32>(ctx, 8); }
@inline export function metricOf(ctx: usize): u32 { return load<u32>(ctx, 12); }
@inline export function floatsOf(ctx: usize): usize { return load<u32>(ctx, 16); }
/** Cosine only: the inverse of each row's norm. */
@inline export function inverseOf(ctx: usize): usize { return load<u32>(ctx, 20); }
/** Where the codes, scales, biases and sums of the rows begin: a "table". The centroids are a table too. */
@inline export function rowTable(ctx: usize): usize { return ctx + 24; }
@inline export function listTable(ctx: usize): usize { return ctx + 40; }
@inline export function tableCodes(table: usize): usize { return load<u32>(table); }
@inline export function tableScale(table: usize): usize { return load<u32>(table, 4); }
@inline export function tableBias(table: usize): usize { return load<u32>(table, 8); }
@inline export function tableSum(table: usize): usize { return load<u32>(table, 12); }
@inline export function listsOf(ctx: usize): u32 { return load<u32>(ctx, 56); }
@inline export function offsetsOf(ctx: usize): usize { return load<u32>(ctx, 60); }

// The scratch area.
@inline export function queryFloats(ctx: usize): usize { return load<u32>(ctx, 64); }
@inline export function queryCodes(ctx: usize): usize { return load<u32>(ctx, 68); }
/** The bitmap of rows that must not be found. */
@inline export function excludedOf(ctx: usize): usize { return load<u32>(ctx, 72); }
@inline export function heapOf(ctx: usize): usize { return load<u32>(ctx, 76); }
@inline export function chunkOf(ctx: usize): usize { return load<u32>(ctx, 80); }
@inline export function probesOf(ctx: usize): usize { return load<u32>(ctx, 84); }
@inline export function traceOf(ctx: usize): usize { return load<u32>(ctx, 88); }

// State of the running query.
@inline export function heapSize(ctx: usize): u32 { return load<u32>(ctx, 96); }
@inline export function setHeapSize(ctx: usize, size: u32): void { store<u32>(ctx, size, 96); }
/** How many candidates the heap keeps. */
@inline export function heapLimit(ctx: usize): u32 { return load<u32>(ctx, 100); }
@inline export function setHeapLimit(ctx: usize, limit: u32): void { store<u32>(ctx, limit, 100); }
/** A row below this score cannot enter the heap. */
@inline export function threshold(ctx: usize): f32 { return load<f32>(ctx, 104); }
@inline export function setThreshold(ctx: usize, score: f32): void { store<f32>(ctx, score, 104); }
@inline export function queryScale(ctx: usize): f32 { return load<f32>(ctx, 108); }
@inline export function setQueryScale(ctx: usize, scale: f32): void { store<f32>(ctx, scale, 108); }
/** Cosine only: the inverse of the query's norm. */
@inline export function queryInverse(ctx: usize): f32 { return load<f32>(ctx, 112); }
@inline export function setQueryInverse(ctx: usize, inverse: f32): void { store<f32>(ctx, inverse, 112); }
/** What the query cost: rows scored and lists read. */
@inline export function addScanned(ctx: usize, rows: u32): void { store<u32>(ctx, load<u32>(ctx, 116) + rows, 116); }
@inline export function setProbed(ctx: usize, lists: u32): void { store<u32>(ctx, lists, 120); }
/** Where loads go whose value nobody needs: were it not stored, the compiler would leave them out. */
@inline export function setTouched(ctx: usize, value: u32): void { store<u32>(ctx, value, 124); }
