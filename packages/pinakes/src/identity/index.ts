export {
  actAs,
  requireAdmin,
  requireAuthenticated,
  requireWrite,
  type Authenticated,
  type Me,
} from "./authenticated.ts";
export type { CreateKey } from "./key-input.ts";
export type { CreatedKey, KeyInfo, Keys, ListKeys } from "./keys.ts";
export { proveServer, signLocalToken, type LocalActor } from "./local-operator.ts";
export { readOidcSettings, type Issuer, type OidcSettings } from "./oidc-settings.ts";
export { openIdentity, type Credentials, type Identity, type IdentityDependencies } from "./open-identity.ts";
export type { CreatedSession, Sessions } from "./sessions.ts";
export { workspaceIds } from "./workspace-ids.ts";
export type { PageOf, WorkspaceInfo, Workspaces } from "./workspaces.ts";
