export { extractDocument, isProse, type Extraction, type ExtractionInput } from "./extract-document.ts";
export { extractFacts, type FailedPassage, type PassageAnswer } from "./extract-facts.ts";
export { checkChatModel, effectiveGraph, readGraphSettings, type GraphSettings } from "./graph-settings.ts";
export { isLabelPredicate, labelKey, labelKeyPredicate, labelsGraph, labelWordPredicate } from "./labels.ts";
export { namesBase, stableHash } from "./names.ts";
export { isStopword } from "./stopwords.ts";
