import { contractTests } from "./contract.ts";

contractTests("memory", "embedded");
contractTests("sqlite", "embedded");
contractTests("sqlite", "http");
