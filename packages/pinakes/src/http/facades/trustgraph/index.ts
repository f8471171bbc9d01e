/** Supports unmodified TrustGraph clients (docs/trustgraph.md). */
export { Gateway } from "./gateway.ts";
export { mountKeyInPath } from "./key-in-path.ts";
export { managementRoutes } from "./management/routes.ts";
export { storageManagementRoutes } from "./storage-management.ts";
export { TrustGraphSockets } from "./sockets/sockets.ts";
export { errorBody as trustGraphErrorBody, trustGraphRoutes } from "./routes.ts";
