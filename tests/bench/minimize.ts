const EPOCHS = 400;
const LEARNING_RATE = 0.1;

/** Values at which a function is smallest, by Adam, from 0. `addGradient`: adds the slopes at some values. */
export function minimize(size: number, addGradient: (values: Float64Array, gradient: Float64Array) => void): Float64Array {
  const [values, means, squares] = [new Float64Array(size), new Float64Array(size), new Float64Array(size)];
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    const gradient = new Float64Array(size);
    addGradient(values, gradient);
    for (const [i, slope] of gradient.entries()) {
      means[i] = 0.9 * (means[i] ?? 0) + 0.1 * slope;
      squares[i] = 0.999 * (squares[i] ?? 0) + 0.001 * slope ** 2;
      const step = (means[i] ?? 0) / (1 - 0.9 ** epoch) / (Math.sqrt((squares[i] ?? 0) / (1 - 0.999 ** epoch)) + 1e-8);
      values[i] = (values[i] ?? 0) - LEARNING_RATE * step;
    }
  }
  return values;
}
