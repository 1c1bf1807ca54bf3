/** Options in our spelling, or in the documents': `stroke_color` for `strokeColor`. */
export type Spelt<T> = T | { readonly [K in keyof T as K extends string ? Snake<K> : never]: T[K] };
type Snake<K extends string> = K extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/** Arguments in the documents' order, or one object of them in either spelling, as an object in ours. */
export function optionsOf<T extends object>(names: readonly (keyof T & string)[], given: readonly unknown[]): Partial<T> {
  const [only] = given;
  const inObject = given.length === 1 && typeof only === 'object' && only !== null && !(only instanceof Blob);
  const values = names.map((name, at): unknown => {
    if (!inObject) return given[at];
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
