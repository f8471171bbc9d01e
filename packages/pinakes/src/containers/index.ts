export { days, defineContainer, timestamp, type Container } from "./define-container.ts";
export type { Conditions, DocumentPage, KeyOf, Repository, Stored } from "./repository.ts";
