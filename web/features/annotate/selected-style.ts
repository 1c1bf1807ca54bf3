import type { StudioView } from './studio-view.svelte.ts';

/** Common value of a field of the selected shapes; otherwise the value for new shapes. */
export function getCommonValue<T>(view: StudioView, field: string, fallback: T): T {
  const values = new Set(view.selected.flatMap((shape) => (field in shape ? [Reflect.get(shape, field) as T] : [])));
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : fallback;
}

/** The same for a length, as it looks on the screen. */
export function getCommonLength(view: StudioView, field: string, fallback: number): number {
  const length = getCommonValue<number | null>(view, field, null);
  return length === null ? fallback : view.toStyleLength(length);
}
