/** A part of a turn that only its provider can read, such as signed thoughts. It is stored with the turn. */
export interface ProviderState {
  /** Format of `value`. */
  wire: string;
  value: unknown;
}
