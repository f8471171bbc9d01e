export { days, defineContainer, timestamp, type DeclaredContainer } from "./define-container.ts";
export type { FilterOf, PathOf } from "./paths.ts";
export type { Container } from "./container.ts";
export type {
  Conditions,
  DocumentChange,
  DocumentChanges,
  DocumentOperation,
  DocumentPage,
  FollowOptions,
  KeyOf,
  QueryOf,
  Stored,
} from "./types.ts";
export { WorkRegistry, workContainer, type RegisteredWork, type Work, type WorkName } from "./work-registry.ts";
export { issuePath, plainIssue } from "./plain-issue.ts";
