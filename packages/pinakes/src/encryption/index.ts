/** Encryption at rest of objects, with a key for each workspace (RFC 0019). */
export { createMasterKeyFile, MasterKeys } from "./master-keys.ts";
export { isEncryptedStore, keysTenant, WorkspaceKeys, workspaceKeysContainer } from "./workspace-keys.ts";
