// The look that was chosen, before the first paint: a script of its own, as the page's policy allows none inline.
const look = document.documentElement.dataset;
if (matchMedia('(prefers-contrast: more)').matches) look.contrast = 'more';
try {
  const theme = localStorage.getItem('perch.theme');
  if (theme === 'light' || theme === 'dark') look.theme = theme;
  if (localStorage.getItem('perch.contrast') === 'more') look.contrast = 'more';
  // The start page is in the document: it is shown where the app will show the same (web/start-page.ts).
  const isChanged = ['locale', 'model-seen', 'onboarding', 'sidebar'].some((key) => localStorage.getItem(`perch.${key}`) !== null);
  const isStart = location.pathname === '/' && location.search === '' && sessionStorage.getItem('perch.demo') === null;
  if (isStart && !isChanged && !/^ar/.test(navigator.language)) look.startPage = /^en/.test(navigator.language) ? 'yes' : 'textless';
} catch {
  // Storage is switched off: the system's look it is.
}
