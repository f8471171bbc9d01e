/** The library, as every interface calls it. */
import type { KnowledgeDependencies } from "../dependencies.ts";
import type { FileUploads } from "../files/file-uploads.ts";
import type { Files } from "../files/files.ts";
import { LibraryCores } from "./library-cores.ts";
import { LibraryDocuments } from "./library-documents.ts";
import type { LibraryRecords } from "./library-records.ts";
import { LibraryStore } from "./library-store.ts";
import { LibraryUploads } from "./library-uploads.ts";

export class Library {
  readonly documents: LibraryDocuments;
  readonly uploads: LibraryUploads;
  readonly cores: LibraryCores;

  constructor(
    { clock, newId }: Pick<KnowledgeDependencies, "clock" | "newId">,
    { records, files, uploads }: { records: LibraryRecords; files: Files; uploads: FileUploads },
  ) {
    const store = new LibraryStore(records);
    this.documents = new LibraryDocuments({ store, files, clock });
    this.uploads = new LibraryUploads({ store, documents: this.documents, uploads, clock });
    this.cores = new LibraryCores({ store, files, clock, newId });
  }
}
