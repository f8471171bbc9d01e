import { knowledgeContractTests } from "./knowledge-contract.ts";

knowledgeContractTests("sqlite", "embedded");
knowledgeContractTests("sqlite", "http");
