import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `npm run console:dev` serves the sources and passes calls on to a server that runs already. */
const server = process.env["PINAKES_URL"] ?? "http://127.0.0.1:7430";
const passedOn = ["/v1", "/docs", "/healthz", "/readyz", "/metrics"];

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  // No file becomes part of a page as data: the page's policy stays strict.
  build: { target: "es2023", assetsInlineLimit: 0, modulePreload: { polyfill: false }, chunkSizeWarningLimit: 700 },
  server: { proxy: Object.fromEntries(passedOn.map((path) => [path, { target: server }])) },
});
