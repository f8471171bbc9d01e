import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { repositoriesOptions, repositoryCollectionsOptions } from "../../api/collections.ts";
import { accessStrings } from "../../strings/access.ts";
import { Select, TextField } from "../../ui/field.tsx";

const s = accessStrings.test;

interface Place {
  readonly repository: string | undefined;
  readonly collection: string | undefined;
  readonly document: string | undefined;
}

interface Props extends Place {
  readonly onChange: (next: Partial<Place>) => void;
}

/** Repository, collection and document of the access tester. */
export function ResourceFields({ repository, collection, document, onChange }: Props) {
  const repositories =
    useQuery(repositoriesOptions).data?.items.map(({ repository_id, name }) => ({
      value: repository_id,
      label: name,
    })) ?? [];
  return (
    <>
      <Select
        label={s.repository}
        value={repository ?? ""}
        choices={[{ value: "", label: s.choose }, ...withChosen(repositories, repository)]}
        onChoose={(next) =>
          onChange({ repository: next === "" ? undefined : next, collection: undefined, document: undefined })
        }
      />
      {repository !== undefined && (
        <CollectionChoice
          repository={repository}
          collection={collection}
          onChoose={(next) => onChange({ collection: next === "" ? undefined : next, document: undefined })}
        />
      )}
      {collection !== undefined && (
        <TextField
          label={s.document}
          hint={s.documentHint}
          value={document ?? ""}
          spellCheck={false}
          onChange={({ target }) => onChange({ document: target.value })}
        />
      )}
    </>
  );
}

interface ChoiceProps {
  readonly repository: string;
  readonly collection: string | undefined;
  readonly onChoose: (collection: string) => void;
}

function CollectionChoice({ repository, collection, onChoose }: ChoiceProps) {
  const list = useInfiniteQuery(repositoryCollectionsOptions(repository));
  const collections = list.data?.items.map(({ collection_id, name }) => ({ value: collection_id, label: name })) ?? [];
  return (
    <Select
      label={s.collection}
      value={collection ?? ""}
      choices={[{ value: "", label: s.onlyRepository }, ...withChosen(collections, collection)]}
      onChoose={onChoose}
    />
  );
}

/** The value of the URL is always offered, even if it is not in the list (yet). */
function withChosen(
  choices: readonly { readonly value: string; readonly label: string }[],
  chosen: string | undefined,
) {
  return chosen === undefined || choices.some(({ value }) => value === chosen)
    ? choices
    : [...choices, { value: chosen, label: chosen }];
}
