/** Changes exactly when the sources do; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** The package's version; likewise. */
declare const __PERCH_VERSION__: string;
