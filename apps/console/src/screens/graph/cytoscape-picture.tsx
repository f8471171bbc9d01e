/**
 * The graph on a canvas, drawn by Cytoscape. Loaded on first use. The tables and the node list have the same data for keyboards and
 * screen readers.
 */
import cytoscape, { type Core, type StylesheetJson } from "cytoscape";
import { Maximize } from "lucide-react";
import { useEffect, useEffectEvent, useRef } from "react";
import { useIsDark } from "../../app/theme.ts";
import { graphStrings } from "../../strings/graph.ts";
import { Button } from "../../ui/button.tsx";
import type { Picture } from "./picture.ts";

const s = graphStrings.explore;
const fitPadding = 30;
/** Above this zoom, labels become larger than the page's text. */
const zoomMax = 1.5;
const zoomMin = 0.1;

interface CytoscapePictureProps {
  readonly picture: Picture;
  readonly focus: string;
  readonly onChoose: (term: string) => void;
}

export default function CytoscapePicture({ picture, focus, onChoose }: CytoscapePictureProps) {
  const place = useRef<HTMLDivElement>(null);
  const core = useRef<Core>(null);
  const dark = useIsDark();
  const chosen = useEffectEvent(onChoose);
  useEffect(() => {
    const made = cytoscape({ container: place.current, maxZoom: zoomMax, minZoom: zoomMin });
    made.on("tap", "node", ({ target }: { readonly target: { id(): string } }) => chosen(target.id()));
    core.current = made;
    return () => made.destroy();
  }, []);
  useEffect(() => {
    core.current?.style(styleOf(colours()));
  }, [dark]);
  const { nodes, edges } = picture;
  // Compared by content: an unchanged graph is not laid out again.
  const key = JSON.stringify([nodes, edges]);
  const show = useEffectEvent(() => {
    if (core.current !== null) draw(core.current, picture, focus);
  });
  useEffect(() => show(), [key]);
  useEffect(() => {
    core.current?.nodes().removeClass("focus");
    core.current?.getElementById(focus).addClass("focus");
  }, [focus, key]);
  return (
    // Cytoscape would insert a style element, which the CSP blocks; it does not if an element with this id exists.
    <figure
      id="__________cytoscape_stylesheet"
      className="relative h-[55dvh] min-h-72 overflow-hidden rounded-lg border bg-panel"
    >
      <div ref={place} role="img" aria-label={s.picture(nodes.length, edges.length)} className="relative size-full" />
      <Button
        size="icon"
        className="absolute right-2 bottom-2 z-10"
        aria-label={s.fit}
        onClick={() => core.current?.fit(undefined, fitPadding)}
      >
        <Maximize aria-hidden />
      </Button>
    </figure>
  );
}

/** Existing nodes keep their position; new ones are placed around them. */
function draw(core: Core, { nodes, edges }: Picture, focus: string): void {
  const wanted = new Set([...nodes.map(({ id }) => id), ...edges.map(({ id }) => id)]);
  const fresh = core.nodes().empty();
  core.batch(() => {
    core
      .elements()
      .filter((element) => !wanted.has(element.id()))
      .remove();
    const around = core.getElementById(focus).empty() ? { x: 0, y: 0 } : core.getElementById(focus).position();
    for (const [index, { id, label, open }] of nodes.entries()) {
      const known = core.getElementById(id);
      if (known.empty()) core.add({ data: { id, label }, position: beside(around, index, nodes.length) });
      core.getElementById(id).data("label", label).toggleClass("open", open);
    }
    for (const { id, from, to, label } of edges)
      if (core.getElementById(id).empty()) core.add({ data: { id, source: from, target: to, label } });
  });
  core
    .layout({
      name: "cose",
      animate: false,
      randomize: fresh,
      nodeDimensionsIncludeLabels: true,
      idealEdgeLength: () => 100,
      nodeRepulsion: () => 60_000,
      nodeOverlap: 24,
      edgeElasticity: () => 80,
      padding: fitPadding,
      fit: true,
    })
    .run();
}

function beside(
  { x, y }: { readonly x: number; readonly y: number },
  index: number,
  count: number,
): { x: number; y: number } {
  const angle = (index / Math.max(1, count)) * 2 * Math.PI;
  const distance = 120;
  return { x: x + Math.cos(angle) * distance, y: y + Math.sin(angle) * distance };
}

interface Colours {
  readonly ink: string;
  readonly soft: string;
  readonly brand: string;
  readonly brandSoft: string;
  readonly line: string;
  readonly panel: string;
}

function styleOf({ ink, soft, brand, brandSoft, line, panel }: Colours): StylesheetJson {
  return [
    {
      selector: "node",
      style: {
        label: "data(label)",
        "background-color": soft,
        width: 14,
        height: 14,
        color: ink,
        "font-size": 14,
        "min-zoomed-font-size": 6,
        "text-valign": "bottom",
        "text-margin-y": 3,
        "text-wrap": "ellipsis",
        "text-max-width": "160px",
        "text-background-color": panel,
        "text-background-opacity": 0.8,
      },
    },
    { selector: "node.open", style: { "background-color": brand, width: 20, height: 20 } },
    {
      selector: "node.focus",
      style: {
        "border-width": 4,
        "border-color": brandSoft,
        "background-color": brand,
        width: 26,
        height: 26,
        "font-weight": "bold",
      },
    },
    {
      selector: "edge",
      style: {
        label: "data(label)",
        width: 1.5,
        "line-color": line,
        "target-arrow-color": soft,
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.8,
        "curve-style": "bezier",
        color: soft,
        "font-size": 11,
        "text-rotation": "autorotate",
        "text-background-color": panel,
        "text-background-opacity": 0.8,
        "text-wrap": "ellipsis",
        "text-max-width": "100px",
        // Hides unreadably small labels.
        "min-zoomed-font-size": 7,
      },
    },
  ];
}

/** The theme colours for Cytoscape, which cannot parse oklch: each is painted once and read back. */
function colours(): Colours {
  const styles = getComputedStyle(document.documentElement);
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const of = (name: string): string => {
    if (context === null) return "#808080";
    context.fillStyle = styles.getPropertyValue(name);
    context.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0] = context.getImageData(0, 0, 1, 1).data;
    return `rgb(${red}, ${green}, ${blue})`;
  };
  return {
    ink: of("--ink"),
    soft: of("--ink-soft"),
    brand: of("--brand"),
    brandSoft: of("--brand-soft"),
    line: of("--line"),
    panel: of("--panel"),
  };
}
