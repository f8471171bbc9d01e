/** Questions answered from what a search finds: RFC 0018. */
export { AnswersApi, type AskInput } from "./answers-api.ts";
export { Responses } from "./responses.ts";
export { answerLimits } from "./limits.ts";
