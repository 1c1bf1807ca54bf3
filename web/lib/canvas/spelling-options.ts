/** Options in our spelling, or in the documents': `stroke_color` for `strokeColor`. */
export type AnySpelling<T> = T | { readonly [K in keyof T as K extends string ? SnakeCase<K> : never]: T[K] };
type SnakeCase<K extends string> = K extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/** Arguments in the documents' order, or one object of them in either spelling, as an object in ours. */
export function toOptions<T extends object>(names: readonly (keyof T & string)[], args: readonly unknown[]): Partial<T> {
  const [only] = args;
  const inObject = args.length === 1 && typeof only === 'object' && only !== null && !(only instanceof Blob);
  const values = names.map((name, at): unknown => {
    if (!inObject) return args[at];
    return (
      Reflect.get(only, name) ??
      Reflect.get(
        only,
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      )
    );
  });
  return Object.fromEntries(names.map((name, at) => [name, values[at]]).filter(([, value]) => value !== undefined)) as Partial<T>;
}
