/** The cost of a call of a facade, as a multiple of the call that it translates to. */
import { compare, us } from "../lib/measure.ts";
import type { Row } from "../lib/report.ts";

/** FACADES_ROUNDS: fewer rounds, to see that all of it runs. */
const rounds = Number(process.env["FACADES_ROUNDS"] ?? 15);

export async function costRow(options: {
  readonly name: string;
  /** The most that it may cost. */
  readonly bar: number;
  readonly operations: number;
  /** Called with the number of the call. */
  readonly facade: (i: number) => Promise<unknown>;
  readonly plain: (i: number) => Promise<unknown>;
}): Promise<Row> {
  const { name, bar, operations, facade, plain } = options;
  const times = (call: (i: number) => Promise<unknown>) => async () => {
    for (let i = 0; i < operations; i += 1) await call(i);
  };
  const { ratio, oursUs, theirsUs } = await compare({
    rounds,
    operations,
    ours: times(facade),
    theirs: times(plain),
  });
  return {
    name,
    value: 1 / ratio,
    unit: "× cost",
    bar: { atMost: bar },
    note: `${us(oursUs)} by the facade, ${us(theirsUs)} by /v1; ${operations} calls in turns, median of ${rounds} rounds; less is better`,
  };
}
