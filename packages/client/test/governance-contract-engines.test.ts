/** The same on the engine that servers run on. */
import { governanceContractTests } from "./governance-contract.ts";

governanceContractTests("postgres", "embedded");
governanceContractTests("postgres", "http");
