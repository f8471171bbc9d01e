import { useMutation } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { homeStrings } from "../../strings/home.ts";
import { Button, type ButtonProps } from "../../ui/button.tsx";
import { ErrorBox } from "../../ui/states.tsx";
import { makeSample } from "./make-collection.ts";

const s = homeStrings.steps;

export function SampleButton({ look, label }: Required<Pick<ButtonProps, "look">> & { readonly label: string }) {
  const make = useMutation({ mutationFn: makeSample });
  return (
    <>
      <Button look={look} disabled={make.isPending} onClick={() => make.mutate()}>
        <Sparkles aria-hidden />
        {make.isPending ? s.sampling : label}
      </Button>
      {make.error !== null && <ErrorBox error={make.error} onRetry={() => make.mutate()} />}
    </>
  );
}
