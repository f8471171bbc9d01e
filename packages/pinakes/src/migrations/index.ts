/** Migrates data of other programs, formats and engines into Pinakes: inventory, copy, verification, switch (RFC 0009). */
export { Migrations, type FinishOptions, type NewMigration } from "./migrations.ts";
export { type DriveOptions } from "./migration-runner.ts";
export type { MigrationView, UnitView } from "./views.ts";
export { moveStores, type MoveReport, type MovingStores } from "./engine/move-stores.ts";
export type { MigrationDependencies } from "./dependencies.ts";
