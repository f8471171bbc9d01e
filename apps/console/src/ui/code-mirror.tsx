/**
 * CodeMirror in a shadow root: only there does it use constructed style sheets, which the CSP allows. In the document it would
 * insert a style element, which the CSP blocks.
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { sql } from "@codemirror/lang-sql";
import {
  bracketMatching,
  HighlightStyle,
  indentOnInput,
  StreamLanguage,
  syntaxHighlighting,
} from "@codemirror/language";
import { sparql } from "@codemirror/legacy-modes/mode/sparql";
import { linter } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";
import type { CodeEditorProps } from "./code-editor.tsx";

const languages: Readonly<Record<CodeEditorProps["language"], () => Extension>> = {
  json: () => [json(), linter(jsonParseLinter())],
  sql: () => sql(),
  sparql: () => StreamLanguage.define(sparql),
  text: () => [],
};

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--brand)", fontWeight: "600" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--warn)" },
  { tag: [tags.propertyName, tags.variableName], color: "var(--ink)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { fontSize: "13px", backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-content": { fontFamily: "var(--font-mono)", caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "transparent", color: "var(--ink-soft)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--brand-soft)",
  },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)" },
});

/**
 * Replaces the selection itself: the browser's own replacement keeps colours as inline styles, which the CSP blocks with a warning.
 * *
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (
      event.inputType !== "insertText" ||
      event.data === null ||
      view.state.selection.main.empty ||
      view.state.readOnly
    )
      return false;
    event.preventDefault();
    view.dispatch(
      view.state.update(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true }),
    );
    return true;
  },
});

export default function CodeMirror({ label, language, value, onChange, onRun, readOnly = false }: CodeEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useEffectEvent((text: string) => onChange?.(text));
  const run = useEffectEvent((text: string) => onRun?.(text));
  const first = useEffectEvent(() => value);
  useEffect(() => {
    if (place.current === null) return;
    const runKey = { key: "Mod-Enter", run: ({ state }: EditorView) => (run(state.doc.toString()), true) };
    const extensions = [
      ...(readOnly ? [EditorState.readOnly.of(true)] : [history(), lineNumbers()]),
      drawSelection(),
      typeOver,
      indentOnInput(),
      bracketMatching(),
      syntaxHighlighting(colours),
      keymap.of([runKey, ...defaultKeymap, ...historyKeymap]),
      languages[language](),
      look,
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": label }),
      EditorView.updateListener.of((update) => (update.docChanged ? changed(update.state.doc.toString()) : undefined)),
    ];
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: "open" });
    const made = new EditorView({ parent: root, root, state: EditorState.create({ doc: first(), extensions }) });
    view.current = made;
    return () => made.destroy();
  }, [language, label, readOnly]);
  // Sets a value from outside, such as a saved query, during rendering: a moment later, `value` may lag behind
  // the editor's text and would remove the last typed character.
  useLayoutEffect(() => {
    const now = view.current;
    if (now === null || now.state.doc.toString() === value) return;
    now.dispatch({ changes: { from: 0, to: now.state.doc.length, insert: value } });
  }, [value]);
  return <div ref={place} />;
}
