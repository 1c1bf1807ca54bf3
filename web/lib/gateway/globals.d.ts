/** Changes exactly when the sources do; set by vite.config.ts. */
declare const __PERCH_BUILD__: string;
/** Built by `npm run build:demo`; likewise. */
declare const __PERCH_DEMO__: boolean;

declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
