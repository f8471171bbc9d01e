import { governanceContractTests } from "./governance-contract.ts";

governanceContractTests("sqlite", "embedded");
governanceContractTests("sqlite", "http");
