/** Changes exactly when the sources do; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** The package's version; likewise. */
declare const __PERCH_VERSION__: string;
/** Where what runs ONNX files lies, without the endings `.mjs` and `.wasm`; likewise. */
declare const __PERCH_ONNX__: string;
