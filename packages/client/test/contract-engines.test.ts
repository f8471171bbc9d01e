/** The same on the engines that servers run on. */
import { contractTests } from "./contract.ts";

contractTests("postgres", "embedded");
contractTests("postgres", "http");
contractTests("dynamodb", "embedded");
