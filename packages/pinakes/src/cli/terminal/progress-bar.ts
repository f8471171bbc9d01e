/** A terminal line that is rewritten in place: progress, rate, and estimated remaining time. */
import { cutToColumns } from "./terminal.ts";

const barChars = 24;
/** Minimum time between updates. */
const everyMs = 100;
/** The rate of the recent past: earlier progress (of a former run) says nothing about the speed. */
const windowMs = 15_000;

export class ProgressBar {
  readonly #write: (text: string) => void;
  readonly #now: () => number;
  readonly #columns: number;
  #label = "";
  #drawnAt = -Infinity;
  #chars = 0;
  #marks: { readonly at: number; readonly done: number }[] = [];

  /** A line wider than the terminal would wrap and not be overwritten by the next. */
  constructor(write: (text: string) => void, now: () => number = () => performance.now(), columns = Infinity) {
    this.#write = write;
    this.#now = now;
    this.#columns = columns;
  }

  /** The note may change freely; a new label restarts the bar. */
  show(label: string, done: number, total: number, note = ""): void {
    const at = this.#now();
    if (label !== this.#label) {
      this.#label = label;
      this.#marks = [];
      this.#drawnAt = -Infinity;
    }
    this.#marks = [...this.#marks.filter((mark) => at - mark.at <= windowMs), { at, done }];
    if (at - this.#drawnAt < everyMs && done < total) return;
    this.#drawnAt = at;
    const full = total === 0 ? barChars : Math.round((barChars * done) / total);
    this.#draw(
      `${label}  ${"█".repeat(full)}${"░".repeat(barChars - full)}  ${done}/${total}${this.#pace(done, total)}${note === "" ? "" : `  ${note}`}`,
    );
  }

  /** Clears the line. */
  end(): void {
    if (this.#chars > 0) this.#write(`\r${" ".repeat(this.#chars)}\r`);
    this.#chars = 0;
  }

  #pace(done: number, total: number): string {
    const first = this.#marks[0];
    const last = this.#marks.at(-1);
    if (first === undefined || last === undefined || last.at <= first.at || last.done <= first.done) return "";
    const perSecond = ((last.done - first.done) * 1_000) / (last.at - first.at);
    return `  ${perSecond.toFixed(perSecond < 10 ? 1 : 0)}/s  ${inWords((total - done) / perSecond)} left`;
  }

  #draw(text: string): void {
    const line = cutToColumns(text, this.#columns - 1);
    this.#write(`\r${line.padEnd(this.#chars)}`);
    this.#chars = line.length;
  }
}

function inWords(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
