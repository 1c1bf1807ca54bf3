/** Changes exactly when the sources do; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** The package's version; likewise. */
declare const __PERCH_VERSION__: string;
/** Where what runs ONNX files lies, without the endings `.mjs` and `.wasm`; likewise. */
declare const __PERCH_ONNX__: string;
/** Address of the WebAssembly that reads text from pictures; empty in the demo; likewise. */
declare const __PERCH_TESSERACT__: string;

interface ImportMeta {
  /** Files that a pattern matches, bundled; by Vite. */
  glob<T>(pattern: string, options: { eager: true; query?: string; import?: string }): Record<string, T>;
}
