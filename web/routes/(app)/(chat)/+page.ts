// The build renders a new chat, as a first visit sees it: the page shows this until the app has started (web/start-page.ts).
export const ssr = !import.meta.env.DEV;
export const prerender = !import.meta.env.DEV;
