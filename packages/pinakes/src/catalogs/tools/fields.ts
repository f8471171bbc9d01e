/** The parameters of the tools, validated by the same rules as in the rest of the server. */
import { z } from "zod";
import { PinakesError } from "../../domain/errors.ts";
import { checkDescription, checkFileName, checkName, knowledgeLimits, quotaDefaults } from "../../knowledge/index.ts";
import { catalogFileTypes, catalogLimits } from "../limits.ts";

export const catalogId = z
  .string()
  .min(1)
  .describe("The id of a catalog, as create_catalog and list_catalogs return it.");

export const documentId = z
  .string()
  .min(1)
  .describe("The id of a document, as upload_to_catalog and list_catalog_documents return it.");

export const catalogName = checkedText((name) => checkName(name, "catalog_name"))
  .describe('Letters, digits, spaces, "-" and "_"; unique among the user\'s catalogs, ignoring case.')
  .meta({ minLength: 1, maxLength: knowledgeLimits.nameCharsMax, pattern: "^[A-Za-z0-9 _-]+$" });

export const description = checkedText((text) => checkDescription(text, quotaDefaults.descriptionCharsMax))
  .describe("What the catalog is about, as plain text without HTML.")
  .meta({ maxLength: quotaDefaults.descriptionCharsMax });

export const filename = checkedText((name) => checkFileName(name, "filename"))
  .describe(`The name of the file, without a path; its extension is one of ${catalogFileTypes.join(", ")}.`)
  .meta({ minLength: 1, maxLength: knowledgeLimits.fileNameCharsMax });

export const query = z
  .string()
  .trim()
  .min(1)
  .max(knowledgeLimits.queryCharsMax)
  .describe("The question, in the user's words.");

export const numResults = z
  .int()
  .min(1)
  .default(catalogLimits.resultsDefault)
  .describe(
    `How many sources to return, at most ${catalogLimits.resultsMax}; a larger number is reduced, with a note.`,
  );

/** A string validated by the server's own function; its error becomes the issue. */
function checkedText(check: (text: string) => string): z.ZodString {
  return z.string().superRefine((text, context) => {
    try {
      check(text);
    } catch (error) {
      if (!PinakesError.isInstance(error)) throw error;
      context.addIssue({ code: "custom", message: error.detail });
    }
  });
}
