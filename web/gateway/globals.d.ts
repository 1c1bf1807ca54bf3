/** Hash of the sources; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** Version of the package; set by vite.config.ts. */
declare const __PERCH_VERSION__: string;
/** Address of the ONNX runtime, without the extensions `.mjs` and `.wasm`; set by vite.config.ts. */
declare const __PERCH_ONNX__: string;
/** Address of Tesseract's WebAssembly; empty in the demo; set by vite.config.ts. */
declare const __PERCH_TESSERACT__: string;

interface ImportMeta {
  /** Files that match a pattern, bundled by Vite. */
  glob<T>(pattern: string, options: { eager: true; query?: string; import?: string }): Record<string, T>;
}
