/** Whether this build has the demo, which `/?demo` opens. */
export const DEMO: boolean = false;
