/** Five short documents of a fictional company. */
import { architectureNotes } from "./architecture-notes.ts";
import { incidentRunbook } from "./incident-runbook.ts";
import { onboardingGuide } from "./onboarding-guide.ts";
import { productFaq } from "./product-faq.ts";
import { releaseNotes } from "./release-notes.ts";

export const samples = [incidentRunbook, onboardingGuide, productFaq, architectureNotes, releaseNotes];
