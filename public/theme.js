// The look that was chosen, before the first paint: a script of its own, as the page's policy allows none inline.
const look = document.documentElement.dataset;
if (matchMedia('(prefers-contrast: more)').matches) look.contrast = 'more';
try {
  const theme = localStorage.getItem('perch.theme');
  if (theme === 'light' || theme === 'dark') look.theme = theme;
  if (localStorage.getItem('perch.contrast') === 'more') look.contrast = 'more';
} catch {
  // Storage is switched off: the system's look it is.
}
