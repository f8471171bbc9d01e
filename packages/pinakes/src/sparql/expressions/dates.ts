/** Dates and times of XML Schema. A value without a time zone is assumed to be UTC for sorting. */
import { literal, termOf, xsd, type TermText } from "../../domain/rdf.ts";
import { integer } from "./numbers.ts";

export interface Moment {
  readonly kind: "dateTime" | "date" | "time";
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hours: number;
  readonly minutes: number;
  /** As written, including its fraction. */
  readonly seconds: string;
  /** Minutes east of UTC; undefined without a time zone. */
  readonly offset: number | undefined;
  /** As written: "Z", "-05:00" or nothing. */
  readonly zone: string;
  /** Milliseconds since 1970; UTC is assumed if there is no time zone. */
  readonly at: number;
}

const dateForm = String.raw`(-?(?:[1-9]\d{3,8}|0\d{3}))-(\d\d)-(\d\d)`;
const timeForm = String.raw`(\d\d):(\d\d):(\d\d(?:\.\d+)?)`;
const zoneForm = String.raw`(Z|[+-]\d\d:\d\d)?`;
const forms = {
  dateTime: new RegExp(`^${dateForm}T${timeForm}${zoneForm}$`),
  date: new RegExp(`^${dateForm}${zoneForm}$`),
  time: new RegExp(`^${timeForm}${zoneForm}$`),
} as const;

export function momentOf(text: TermText): Moment | undefined {
  const term = termOf(text);
  if (term.type !== "literal" || term.datatype === undefined || !term.datatype.startsWith(xsd)) return undefined;
  return parseMoment(term.value, term.datatype.slice(xsd.length));
}

export function parseMoment(lexical: string, type: string): Moment | undefined {
  if (type !== "dateTime" && type !== "date" && type !== "time") return undefined;
  const found = forms[type].exec(lexical);
  if (found === null) return undefined;
  const fields = found.slice(1);
  const [year, month, day] = type === "time" ? [1970, 1, 1] : fields.splice(0, 3).map(Number);
  const [hours, minutes, seconds] = type === "date" ? ["0", "0", "0"] : fields.splice(0, 3);
  const zone = fields[0] ?? "";
  const offset = offsetOf(zone);
  const moment: Omit<Moment, "at"> = {
    kind: type,
    year: year as number,
    month: month as number,
    day: day as number,
    hours: Number(hours),
    minutes: Number(minutes),
    seconds: seconds as string,
    offset,
    zone,
  };
  return valid(moment) ? { ...moment, at: timeOf(moment) } : undefined;
}

function offsetOf(zone: string): number | undefined {
  if (zone === "") return undefined;
  if (zone === "Z") return 0;
  const [hours = 0, minutes = 0] = zone.slice(1).split(":").map(Number);
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function valid({ year, month, day, hours, minutes, seconds, offset }: Omit<Moment, "at">): boolean {
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  const isMidnight = hours === 24 && minutes === 0 && Number(seconds) === 0;
  return (hours <= 23 || isMidnight) && minutes <= 59 && Number(seconds) < 60 && Math.abs(offset ?? 0) <= 14 * 60;
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function timeOf({ year, month, day, hours, minutes, seconds, offset }: Omit<Moment, "at">): number {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getTime() + (hours * 60 + minutes - (offset ?? 0)) * 60_000 + Number(seconds) * 1_000;
}

type DatePart = "year" | "month" | "day" | "hours" | "minutes" | "seconds" | "timezone" | "tz";

/** The functions YEAR to TZ, for a dateTime. */
export function datePart(part: DatePart, text: TermText): TermText | undefined {
  const moment = momentOf(text);
  if (moment === undefined) return undefined;
  if ((part === "year" || part === "month" || part === "day") && moment.kind === "time") return undefined;
  if ((part === "hours" || part === "minutes" || part === "seconds") && moment.kind === "date") return undefined;
  if (part === "tz") return literal(moment.zone);
  if (part === "timezone")
    return moment.offset === undefined
      ? undefined
      : literal(durationOf(moment.offset), { datatype: `${xsd}dayTimeDuration` });
  if (part === "seconds") return literal(secondsOf(moment.seconds), { datatype: `${xsd}decimal` });
  return integer(moment[part]);
}

function secondsOf(text: string): string {
  const plain = text.replace(/^0(?=\d)/, "");
  return plain.includes(".") ? plain.replace(/\.?0+$/, "") : plain;
}

function durationOf(offset: number): string {
  const total = Math.abs(offset);
  const [hours, minutes] = [Math.floor(total / 60), total % 60];
  if (total === 0) return "PT0S";
  return `${offset < 0 ? "-" : ""}PT${hours === 0 ? "" : `${hours}H`}${minutes === 0 ? "" : `${minutes}M`}`;
}
