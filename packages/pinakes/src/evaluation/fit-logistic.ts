/** Logistic regression by Newton's method, with example weights and slight regularisation, so that it converges on separable sets, too. */
export interface Example {
  readonly features: readonly number[];
  readonly relevant: boolean;
  readonly weight: number;
}

const rounds = 50;
const ridge = 1e-3;

/** The bias first, then one coefficient per feature. */
export function fitLogistic(examples: readonly Example[]): readonly number[] {
  const size = (examples[0]?.features.length ?? 0) + 1;
  let coefficients: number[] = Array.from({ length: size }, () => 0);
  for (let round = 0; round < rounds; round += 1) {
    const gradient = coefficients.map((value, i) => (i === 0 ? 0 : -ridge * value));
    const hessian = coefficients.map((_, i) => coefficients.map((__, k) => (i === k ? ridge : 0)));
    for (const { features, relevant, weight } of examples) {
      const x = [1, ...features];
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + value * (coefficients[i] as number), 0)));
      for (let i = 0; i < size; i += 1) {
        gradient[i] = (gradient[i] as number) + weight * ((relevant ? 1 : 0) - p) * (x[i] as number);
        const row = hessian[i] as number[];
        for (let k = 0; k < size; k += 1)
          row[k] = (row[k] as number) + weight * p * (1 - p) * (x[i] as number) * (x[k] as number);
      }
    }
    const step = solved(hessian, gradient);
    coefficients = coefficients.map((value, i) => value + (step[i] as number));
    if (Math.max(...step.map(Math.abs)) < 1e-9) break;
  }
  return coefficients;
}

/** Gaussian elimination with pivoting. */
function solved(matrix: readonly (readonly number[])[], right: readonly number[]): readonly number[] {
  const rows = matrix.map((row, i) => [...row, right[i] as number]);
  const size = rows.length;
  for (let column = 0; column < size; column += 1) {
    const pivot = rows
      .slice(column)
      .reduce(
        (best, row, i) =>
          Math.abs(row[column] as number) > Math.abs(rows[best]?.[column] as number) ? column + i : best,
        column,
      );
    [rows[column], rows[pivot]] = [rows[pivot] as number[], rows[column] as number[]];
    const head = rows[column] as number[];
    for (const [i, row] of rows.entries()) {
      if (i === column) continue;
      const factor = (row[column] as number) / (head[column] as number);
      for (let k = column; k <= size; k += 1) row[k] = (row[k] as number) - factor * (head[k] as number);
    }
  }
  return rows.map((row, i) => (row[size] as number) / (row[i] as number));
}
