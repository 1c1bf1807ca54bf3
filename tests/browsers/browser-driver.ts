/** A position in a tab, in CSS pixels from its top left corner. */
export interface Point {
  x: number;
  y: number;
}

/** A tab of a browser. Each browser implements it with its own protocol. */
export interface TabDriver {
  goto(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Evaluates a JavaScript expression in the page. A promise is awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** Presses the mouse button at the first point, moves to the others and releases it at the last one. One point is a click. */
  drag(points: readonly Point[]): Promise<void>;
  /** Types into the focused element. */
  type(text: string): Promise<void>;
  pressEnter(): Promise<void>;
  close(): Promise<void>;
}

/** A running browser with a profile of its own. */
export interface BrowserDriver extends AsyncDisposable {
  /** Folder of downloaded files. */
  readonly downloads: string;
  openTab(): Promise<TabDriver>;
}
