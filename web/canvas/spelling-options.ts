/** Options in camel case or snake case: `strokeColor` or `stroke_color`. */
export type AnySpelling<T> = T | { readonly [K in keyof T as K extends string ? SnakeCase<K> : never]: T[K] };
type SnakeCase<K extends string> = K extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : '';

/** Converts positional arguments, or one object of options in either spelling, to options in camel case. */
export function toOptions<T extends object>(names: readonly (keyof T & string)[], args: readonly unknown[]): Partial<T> {
  const [only] = args;
  const isObject = args.length === 1 && typeof only === 'object' && only !== null && !(only instanceof Blob);
  const values = names.map((name, index): unknown => {
    if (!isObject) return args[index];
    return (
      Reflect.get(only, name) ??
      Reflect.get(
        only,
        name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      )
    );
  });
  return Object.fromEntries(names.map((name, index) => [name, values[index]]).filter(([, value]) => value !== undefined)) as Partial<T>;
}
